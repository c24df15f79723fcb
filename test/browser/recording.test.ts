import { expect, it } from 'vitest';
import { animatedWebp } from '../support/console/animated-webp.ts';
import { ConsolePage } from '../support/console/console-page.ts';
import { ScreenRecorder } from '../support/console/screen-recorder.ts';

it('a recording of the page is an animation that a browser plays', async () => {
  const size = { width: 401, height: 300 };
  await using opened = await ConsolePage.open('#/health/default', {}, { viewport: size });
  const { page } = opened;
  const recorder = await ScreenRecorder.start(page, { framesPerSecond: 20, quality: 50 });
  await page.getByText('healthy').waitFor();
  await page.getByRole('button', { name: /Use the (dark|light) theme/ }).click();
  await page.getByRole('button', { name: /Use the (dark|light) theme/ }).waitFor();
  // A frame of the other theme.
  await page.screenshot();
  const frames = await recorder.stop();
  expect(frames.length).toBeGreaterThanOrEqual(2);
  const file = animatedWebp(frames, size).toString('base64');
  const played = await page.evaluate(`(async () => {
    const data = Uint8Array.from(atob('${file}'), (letter) => letter.charCodeAt(0));
    const decoder = new ImageDecoder({ type: 'image/webp', data });
    await decoder.tracks.ready;
    const { frameCount, repetitionCount } = decoder.tracks.selectedTrack;
    const { image } = await decoder.decode({ frameIndex: frameCount - 1 });
    return { frameCount, endless: repetitionCount === Infinity, width: image.codedWidth, height: image.codedHeight };
  })()`);
  expect(played).toEqual({ frameCount: frames.length, endless: true, ...size });
});
