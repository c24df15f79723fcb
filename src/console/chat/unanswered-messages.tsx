import type { UnsentMessage } from '../../client/session-client.ts';
import { useFeed } from '../service/use-session.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import style from './chat.module.css';
import { useChat } from './chat-context.ts';

/** The messages that wait for a connection, after the conversation. */
export function UnsentMessages({ messages }: { readonly messages: readonly UnsentMessage[] }) {
  const feed = useFeed();
  const { putBack } = useChat();
  const withdraw = ({ clientMessageId, content }: UnsentMessage): void =>
    feed.do(async (client) => {
      if (await client.withdraw(clientMessageId)) putBack(content);
    });
  return messages.map((message) => (
    <article key={message.clientMessageId} className={style.turn} aria-label="A message that is not sent yet">
      <div className={`${style.user} ${style.unsent}`}>
        <p dir="auto">{message.content}</p>
      </div>
      <div className={style.unsentNote}>
        <Badge tone="warn">not sent yet</Badge>
        <Button kind="quiet" onClick={() => withdraw(message)}>
          Withdraw
        </Button>
      </div>
    </article>
  ));
}
