import { apiOf, piecesOf } from './control-options.ts';
import { openAiReplies, openAiResponses, type Replies, scriptedReplies } from './plain-model.ts';

/*
 * The conversations of the controls `plain` and `plain-http`: in memory and not durable. Messages of one session may
 * run at the same time.
 */
const upstream = process.env.BENCH_UPSTREAM;
const replies =
  upstream === undefined ? scriptedReplies(piecesOf(process.env)) : await modelReplies(upstream);
const histories = new Map<string, { role: 'user' | 'assistant'; content: string }[]>();

async function modelReplies(baseURL: string): Promise<Replies> {
  const api = apiOf(process.env);
  if (api !== 'messages') return api === 'chat' ? openAiReplies(baseURL) : openAiResponses(baseURL);
  // Loaded only when used, because it would count in memory and start time.
  const { claudeReplies } = await import('./plain-claude.ts');
  return claudeReplies(baseURL);
}

/** The whole reply to a message. `onText` gets each piece of it as it comes. */
export async function answer(
  session: string,
  message: string,
  onText: (text: string) => void = () => undefined,
): Promise<string> {
  const history = histories.get(session) ?? [];
  histories.set(session, history);
  history.push({ role: 'user', content: message });
  let content = '';
  for await (const text of replies(history)) {
    content += text;
    onText(text);
  }
  history.push({ role: 'assistant', content });
  return content;
}
