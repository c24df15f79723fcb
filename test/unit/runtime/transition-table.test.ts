import { describe, expect, it } from 'vitest';
import {
  type AnyStateMachine,
  and,
  assign,
  createActor,
  createMachine,
  emit,
  not,
  setup,
  stateIn,
} from 'xstate';
import { TransitionTable } from '../../../src/runtime/machines/transition-table.ts';
import { seededRandom } from '../../support/project/seeded-random.ts';

/** What a machine did: the state and context after each event, and everything that was emitted. */
function byXState(machine: AnyStateMachine, input: unknown, events: readonly Event[]) {
  const effects: unknown[] = [];
  const actor = createActor(machine, { input });
  actor.on('*', (effect) => effects.push(effect));
  actor.start();
  const states = [resting()];
  for (const event of events) {
    if (actor.getSnapshot().status === 'active') actor.send(event);
    states.push(resting());
  }
  return { states, effects };

  function resting() {
    const { value, context, status } = actor.getSnapshot();
    return { value, context, status };
  }
}

function byTable(machine: AnyStateMachine, input: unknown, events: readonly Event[]) {
  const effects: never[] = [];
  const table = new TransitionTable(machine);
  let position = table.begin(input, effects);
  const states = [resting()];
  for (const event of events) {
    position = table.next(position, event, effects);
    states.push(resting());
  }
  return { states, effects };

  function resting() {
    const { state, context } = position;
    return { value: state.value, context, status: state.isFinal ? 'done' : 'active' };
  }
}

interface Event {
  readonly type: string;
  readonly by?: number;
}

/** Three levels, transitions across them, guards and actions of every kind that a table has. */
const counter = setup({
  types: {} as { context: { n: number; log: string }; events: Event; input: { n: number } },
  actions: {
    add: assign({ n: ({ context, event }) => context.n + (event.by ?? 1), log: 'added' }),
    note: assign(({ context }, { text }: { text: string }) => ({ log: `${context.log} ${text}` })),
    tell: emit(({ context }) => ({ type: 'told', n: context.n, log: context.log })),
    ring: emit({ type: 'rang' }),
  },
  guards: {
    isEven: ({ context }) => context.n % 2 === 0,
    isOver: ({ context }, { limit }: { limit: number }) => context.n > limit,
  },
}).createMachine({
  id: 'counter',
  context: ({ input }) => ({ n: input.n, log: '' }),
  entry: 'ring',
  initial: 'outer',
  on: { leave: '.left', ring: { actions: ['ring', 'tell'] } },
  states: {
    outer: {
      entry: ['tell', { type: 'note', params: { text: 'in outer' } }],
      exit: [{ type: 'note', params: ({ context }) => ({ text: `left at ${context.n}` }) }, 'tell'],
      initial: 'middle',
      on: {
        add: { actions: 'add' },
        deep: '#deepest',
        other: { target: 'second', actions: ['add', 'tell'] },
      },
      states: {
        middle: {
          exit: 'ring',
          initial: 'first',
          states: {
            first: {
              on: {
                next: [
                  { guard: 'isEven', target: 'last' },
                  { target: 'last', actions: 'add' },
                ],
                add: { guard: 'isEven', actions: ['add', 'tell'] },
              },
            },
            last: {
              id: 'deepest',
              entry: 'tell',
              always: { guard: { type: 'isOver', params: { limit: 9 } }, target: '#over' },
            },
          },
          on: { next: 'beside' },
        },
        beside: {
          on: { next: 'middle' },
          always: {
            guard: and([not('isEven'), not({ type: 'isOver', params: { limit: 4 } })]),
            target: 'middle',
            actions: 'add',
          },
        },
      },
    },
    second: {
      id: 'over',
      entry: 'add',
      on: { next: 'outer' },
      always: { guard: { type: 'isOver', params: { limit: 40 } }, target: 'left' },
    },
    left: { type: 'final', entry: 'tell' },
  },
});

describe('a transition table', () => {
  it('does what the machine does, whatever comes', () => {
    const types = ['add', 'next', 'deep', 'other', 'ring', 'unknown', 'next', 'add'];
    const random = seededRandom(16);
    const reached = new Set<string>();
    for (let run = 0; run < 400; run += 1) {
      const events = Array.from({ length: 25 }, () => {
        const type = random() < 0.02 ? 'leave' : (types[Math.floor(random() * types.length)] ?? 'add');
        return random() < 0.3 ? { type, by: Math.floor(random() * 4) } : { type };
      });
      const input = { n: Math.floor(random() * 6) };
      const expected = byXState(counter, input, events);
      expect(byTable(counter, input, events)).toEqual(expected);
      for (const { value } of expected.states) reached.add(JSON.stringify(value));
    }
    expect([...reached].toSorted()).toEqual([
      '"left"',
      '"second"',
      '{"outer":"beside"}',
      '{"outer":{"middle":"first"}}',
      '{"outer":{"middle":"last"}}',
    ]);
  });

  it('gives the same position when nothing is enabled', () => {
    const table = new TransitionTable(counter);
    const position = table.begin({ n: 1 }, []);
    expect(table.next(position, { type: 'unknown' }, [])).toBe(position);
  });

  it.each([
    ['parallel states', { type: 'parallel', states: { a: {}, b: {} } }],
    ['history states', { initial: 'a', states: { a: {}, h: { type: 'history' } } }],
    [
      'final states inside of others',
      { initial: 'a', states: { a: { initial: 'b', states: { b: { type: 'final' } } } } },
    ],
    ['exit actions at the end', { initial: 'a', states: { a: { type: 'final', exit: 'x' } } }],
    ['invoked actors', { initial: 'a', states: { a: { invoke: { src: 'x' } } } }],
    ['delays', { initial: 'a', states: { a: { after: { 1: 'b' } }, b: {} } }],
    [
      'actions of an initial transition',
      { initial: { target: 'a', actions: emit({ type: 'x' }) }, states: { a: {} } },
    ],
    ['wildcards', { initial: 'a', states: { a: { on: { '*': 'b' } }, b: {} } }],
    ['transitions to their own state', { initial: 'a', states: { a: { on: { x: 'a' } } } }],
    [
      'transitions to their own state',
      { initial: 'a', states: { a: { on: { x: { target: 'b', reenter: true } } }, b: {} } },
    ],
    ['action someAction', { initial: 'a', states: { a: { entry: 'someAction' } } }],
    ['action without a name', { initial: 'a', states: { a: { entry: () => undefined } } }],
    [
      'guard someGuard',
      { initial: 'a', states: { a: { on: { x: { guard: 'someGuard', target: 'b' } } }, b: {} } },
    ],
    [
      'guard without a name',
      { initial: 'a', states: { a: { on: { x: { guard: stateIn('a'), target: 'b' } } }, b: {} } },
    ],
  ])('refuses a machine with %s', (what, config) => {
    const machine = createMachine(config as Parameters<typeof createMachine>[0]);
    expect(() => new TransitionTable(machine)).toThrow(`a table has no ${what}`);
  });
});
