import { useAccount } from '../service/account.ts';
import { Dialog } from '../ui/dialog.tsx';
import type { Keys } from './keys.ts';
import style from './keys-dialog.module.css';
import { shownPanels } from './panel-scopes.ts';

type Meaning = readonly [keys: readonly string[], meaning: string];

const keysOf = (panels: number): readonly Meaning[] => [
  [['?'], 'Show the keys'],
  [['/'], 'Write a message'],
  [['n'], 'New session'],
  [panels > 1 ? ['1', '…', String(panels)] : ['1'], 'Open a panel, in the order of the list'],
  [['Enter'], 'Send the message'],
  [['Shift', 'Enter'], 'New line in the message'],
  [['Esc'], 'Cancel the running reply, or close a dialog'],
  [['Space'], 'Play or pause a past turn in the statechart'],
  [[',', '.'], 'One moment back or on in a past turn'],
  [['Tab'], 'Go to the next button or link'],
];

/** Lists the keys of the page. */
export function KeysDialog({ areOn, setOn, setHelpOpen }: Keys) {
  const keys = keysOf(shownPanels(useAccount()).length);
  return (
    <Dialog title="Keys" onClose={() => setHelpOpen(false)}>
      <dl className={style.keys}>
        {keys.map(([names, meaning]) => (
          <div key={meaning}>
            <dt>
              {names.map((name) => (name === '…' ? <span key={name}>…</span> : <kbd key={name}>{name}</kbd>))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <label className={style.switch}>
        <input type="checkbox" checked={areOn} onChange={({ target }) => setOn(target.checked)} />
        Keys of one character work outside of text fields
      </label>
    </Dialog>
  );
}
