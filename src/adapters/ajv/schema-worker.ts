import { parentPort } from 'node:worker_threads';
import { messageOf } from '../../core/thrown.ts';
import type { SchemaVerdict } from '../../ports/schema-check.ts';
import { loadCompiler, verdictOn } from './schema-compiler.ts';

/* The thread of `SchemaThread`: says that it has started, then answers each message with a verdict. */

interface Task {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly value: unknown;
  readonly root: string;
}

const compiler = loadCompiler();
void compiler.then((compile) => {
  // The first compilation takes long, which is not the fault of a schema.
  compile({});
  parentPort?.postMessage('started');
});

parentPort?.on('message', async (task: Task) => {
  parentPort?.postMessage(await verdictOf(task));
});

async function verdictOf({ schema, value, root }: Task): Promise<SchemaVerdict> {
  const compile = await compiler;
  try {
    const validate = compile(schema);
    return validate(value) ? {} : verdictOn(validate.errors ?? [], root);
  } catch (error) {
    return { unusable: messageOf(error) };
  }
}
