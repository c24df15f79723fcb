import { expect, test, vi } from 'vitest';
import { UnheardChanges } from '../../../src/adapters/mcp/tools/unheard-changes.ts';

function watched() {
  const told = vi.fn();
  return { told, unheard: new UnheardChanges(told) };
}

test('tells nothing when the stream was open before the tools were listed, or never opens', () => {
  const { told, unheard } = watched();
  unheard.streamOpened();
  unheard.listing();
  unheard.beat();
  const overStdio = watched();
  overStdio.unheard.listing();
  overStdio.unheard.beat();
  expect(told).not.toHaveBeenCalled();
  expect(overStdio.told).not.toHaveBeenCalled();
});

test('tells at once when the first stream opens after the tools were listed', () => {
  const { told, unheard } = watched();
  unheard.listing();
  unheard.streamOpened();
  expect(told).toHaveBeenCalledTimes(1);
  unheard.beat();
  expect(told).toHaveBeenCalledTimes(1);
});

test('tells once of streams that were opened again, with the next beat', () => {
  const { told, unheard } = watched();
  unheard.streamOpened();
  unheard.listing();
  for (let stream = 0; stream < 10; stream += 1) unheard.streamOpened();
  expect(told).not.toHaveBeenCalled();
  unheard.beat();
  unheard.beat();
  expect(told).toHaveBeenCalledTimes(1);
});

test('tells nothing of a stream when the tools were listed since', () => {
  const { told, unheard } = watched();
  unheard.streamOpened();
  unheard.listing();
  unheard.streamOpened();
  unheard.listing();
  unheard.beat();
  expect(told).not.toHaveBeenCalled();
});
