import { HttpConnection } from '../support/http-connection.ts';
import { type Instance, refusalOf } from './instance.ts';
import type { LoadOptions } from './options.ts';
import type { Tally } from './tally.ts';

/** One client of message-sync. Afterwards the log must have exactly the answers that it got. */
export async function call(
  session: string,
  { options, instance, tally }: { options: LoadOptions; instance: Instance; tally: Tally },
): Promise<void> {
  const connection = new HttpConnection(options.url);
  const body = JSON.stringify({ message: options.message, sessionId: session });
  const answers: unknown[] = [];
  try {
    for (let message = 0; message < options.messages; message += 1) {
      const sent = performance.now();
      const answer = await within(
        options.timeoutSeconds,
        connection.request({ path: '/api/message-sync', body }),
      );
      if (answer.status !== 200) throw new Error(refusalOf(answer.status, answer.body));
      tally.answered(performance.now() - sent, null);
      answers.push(JSON.parse(answer.body).response);
    }
  } finally {
    connection.close();
  }
  const logged = (await instance.log(session)).filter(({ event }) => event === 'response');
  const isSame =
    logged.length === answers.length && logged.every(({ data }, at) => data.content === answers[at]);
  const difference = `${answers.length} answers are not the ${logged.length} of the log`;
  tally.compared(session, isSame ? null : difference);
}

async function within<T>(seconds: number, work: Promise<T>): Promise<T> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(new Error(`no answer within ${seconds} s`)), seconds * 1_000);
  try {
    return await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
