import { clockTime } from '../../ui/time.ts';
import { stateText } from '../chart/active-states.ts';
import { eventLabel } from '../chart/chart.ts';
import style from '../statecharts.module.css';
import { machineName, type RecordedMove } from './machine-history.ts';

/** The last transitions of all machines, the newest first. */
export function RecentMoves({ moves }: { readonly moves: readonly RecordedMove[] }) {
  return (
    <section className={style.recent} aria-labelledby="recent-heading">
      <h2 id="recent-heading">Recent transitions</h2>
      {moves.length === 0 && <p className={style.muted}>Nothing has happened since this panel was opened.</p>}
      <ol>
        {moves.map(({ number, state, event, after }) => (
          <li key={number}>
            <time dateTime={state.time}>{clockTime(state.time)}</time>
            <span className={style.move}>
              <code>
                {event === null ? (state.status === 'stopped' ? 'stopped' : 'begins') : eventLabel(event)}
              </code>
              {' → '}
              {stateText(after)}
            </span>
            <span className={style.muted}>{machineName(state)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
