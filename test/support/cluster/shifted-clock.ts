/*
 * To be imported before a program: its wall clock is wrong by CLOCK_SHIFT_MS milliseconds. Timers and the monotonic clock
 * are right.
 */
const shiftMs = Number(process.env.CLOCK_SHIFT_MS ?? 0);
const rightNow = Date.now.bind(Date);
const wrongNow = (): number => rightNow() + shiftMs;

if (shiftMs !== 0)
  globalThis.Date = new Proxy(Date, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [wrongNow()] : args, newTarget),
    apply: (target) => new target(wrongNow()).toString(),
    get: (target, key, receiver) => (key === 'now' ? wrongNow : Reflect.get(target, key, receiver)),
  });
