import { parentPort } from 'node:worker_threads';
import { messageOf } from '../../core/thrown.ts';
import type { SchemaVerdict } from '../../ports/schema-check.ts';
import { compile, loadAjv, verdictOn } from './schema-compiler.ts';

/* The thread of `SchemaThread`: says that it has started, then answers each message with a verdict. */

interface Task {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly value: unknown;
  readonly root: string;
}

const ajv = loadAjv();
void ajv.then(() => parentPort?.postMessage('started'));

parentPort?.on('message', async (task: Task) => {
  parentPort?.postMessage(await verdictOf(task));
});

async function verdictOf({ schema, value, root }: Task): Promise<SchemaVerdict> {
  const checker = await ajv;
  try {
    const validate = compile(checker, schema);
    return validate(value) ? {} : verdictOn(validate.errors ?? [], root);
  } catch (error) {
    return { unusable: messageOf(error) };
  }
}
