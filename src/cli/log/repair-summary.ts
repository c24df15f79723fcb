import type { RepairReport } from '../../adapters/sqlite/repair/repair-event-log.ts';
import { counted } from '../../core/counted.ts';

/** One line for people, after the report: what is lost, what was done about it, and what is left to do. */
export function repairSummary(report: RepairReport): string {
  const { healthy, dryRun = false, finishedEarlier = false, sessions, events } = report;
  const contents = `${counted(events, 'event')} in ${counted(sessions, 'session')}`;
  const begin = dryRun ? 'dry run, nothing was changed: ' : '';
  const finished = finishedEarlier
    ? `an earlier repair was interrupted, and ${dryRun ? 'would be' : 'is now'} finished; `
    : '';
  if (healthy && finishedEarlier) return `${begin}${finished}the log then has ${contents}`;
  if (healthy) return `${begin}the log is intact (${contents}); there is nothing to repair`;
  return `${begin}${finished}${damage(report)}; the log ${dryRun ? 'would have' : 'now has'} ${contents}${copy(report)}`;
}

function damage({ cut, endedTurns, dryRun = false }: RepairReport): string {
  if (cut.length === 0) return 'the log is damaged, but no event is known to be lost';
  const lost = cut.reduce((sum, { intactUpTo, lostUpTo }) => sum + lostUpTo - intactUpTo, 0);
  const from = cut.length === 1 ? 'all' : 'in each, all';
  const gone = cut.filter(({ intactUpTo }) => intactUpTo === 0).length;
  const whole = gone === 0 ? '' : `, ${gone} of them as a whole`;
  const be = endedTurns.length === 1 ? 'is' : 'are';
  const [are, would] = dryRun ? ['would be', 'would not be'] : [be, 'is not'];
  const ended =
    endedTurns.length === 0
      ? ''
      : `; ${counted(endedTurns.length, 'turn')} without an end ${are} cancelled: the model ${would} called again`;
  return `at least ${counted(lost, 'event')} of ${counted(cut.length, 'session')} ${lost === 1 ? 'is' : 'are'} lost${whole}: ${from} from the first damaged or missing one on${ended}`;
}

function copy({ backup }: RepairReport): string {
  return backup === undefined ? '' : `; the damaged files are in ${backup}`;
}
