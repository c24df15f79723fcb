import { useEffect, useState } from 'react';
import type { ReplayFrame } from './turn-replay.ts';

export const speeds = ['0.5', '1', '4'] as const;
export type Speed = (typeof speeds)[number];

export interface Playback {
  /** Index of the frame that is shown. */
  readonly position: number;
  readonly isPlaying: boolean;
  readonly speed: Speed;
  readonly setSpeed: (speed: Speed) => void;
  /** Plays or pauses. At the end, plays from the beginning. */
  readonly toggle: () => void;
  /** Shows a frame and pauses. */
  readonly moveTo: (position: number) => void;
}

interface Start {
  /** A new key starts again. */
  readonly key: string;
  /** Index of the first frame to show; null for the last frame. */
  readonly at: number | null;
  readonly plays: boolean;
}

/** At speed 1, a moment is shown as long as it took, within these bounds. */
const MIN_MS = 700;
const MAX_MS = 2_000;

/** Goes through the frames of a turn by itself. */
export function usePlayback(frames: readonly ReplayFrame[], { key, at, plays }: Start): Playback {
  const [speed, setSpeed] = useState<Speed>('1');
  const first = { key, wanted: plays ? 0 : at, isPlaying: plays };
  const [state, setState] = useState(first);
  if (state.key !== key) setState(first);
  const { wanted, isPlaying } = state;
  const last = Math.max(0, frames.length - 1);
  const position = Math.min(wanted ?? last, last);
  const delayMs = timeOf(frames[position], frames[position + 1]) / Number(speed);
  useEffect(() => {
    if (!isPlaying) return undefined;
    const timer = setTimeout(
      () => setState({ key, wanted: Math.min(position + 1, last), isPlaying: position + 1 < last }),
      delayMs,
    );
    return () => clearTimeout(timer);
  }, [key, isPlaying, position, last, delayMs]);
  return {
    position,
    isPlaying,
    speed,
    setSpeed,
    toggle: () => setState({ key, wanted: position === last ? 0 : position, isPlaying: !isPlaying }),
    moveTo: (next) => setState({ key, wanted: Math.max(0, Math.min(last, next)), isPlaying: false }),
  };
}

/** How long a frame is shown before the next one, at speed 1. */
function timeOf(frame: ReplayFrame | undefined, next: ReplayFrame | undefined): number {
  const from = frame?.recorded?.time;
  const to = next?.recorded?.time;
  const realMs = from === undefined || to === undefined ? 0 : Date.parse(to) - Date.parse(from);
  return Math.min(MAX_MS, Math.max(MIN_MS, realMs));
}
