interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: { readonly message?: string; readonly a?: number; readonly b?: number };
  };
}

/**
 * An MCP server over stdio with the tools that the fakes call. It runs as text in a process of its own, because a process
 * that has to strip types first takes twice as long to start. So it uses nothing from outside of itself.
 *
 * Its schemas have what providers stumble over: a draft, a choice at the top, a long description, no properties, lists that
 * do not say of what, the name of a property, a keyword as in draft 4, references, no type, a pattern and a bound of
 * which no grammar can be made, and a pattern that only ECMAScript knows.
 */
export function plainTools(): void {
  const $schema = 'http://json-schema.org/draft-07/schema#';
  const message = { type: 'string' };
  const numbers = { type: 'array', items: { type: 'number' } };
  const a = { type: 'number' };
  const tools = [
    {
      name: 'echo',
      description: `Echoes back. ${'It takes any text. '.repeat(80)}`,
      inputSchema: { $schema, type: 'object', properties: { message }, required: ['message'] },
    },
    {
      name: 'get-sum',
      inputSchema: {
        type: 'object',
        anyOf: [
          { properties: { a, b: a }, required: ['a', 'b'] },
          { properties: { numbers }, required: ['numbers'] },
        ],
      },
    },
    { name: 'does.nothing/at all', description: '', inputSchema: { type: 'object' } },
    {
      name: 'find',
      inputSchema: {
        type: 'object',
        properties: {
          $filter: message,
          rows: { type: 'array', items: { type: 'array' } },
          top: { type: 'integer', minimum: 0, exclusiveMinimum: true },
          from: { $ref: '#/$defs/Day' },
          any: { description: 'Anything.' },
          note: { type: 'string', pattern: '[^\\0]+', maxLength: 2_000 },
          author: { type: 'string', pattern: '^\\p{L}+$' },
          to: { type: 'string', anyOf: [{ $ref: '#/properties/from' }, { enum: ['today'] }] },
        },
        $defs: { Day: { type: 'string', format: 'date' } },
      },
    },
  ];
  const serverInfo = { name: 'plain', version: '1' };
  const results: Readonly<Record<string, object>> = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo },
    'tools/list': { tools },
  };
  const send = (id: number, result: object): void => {
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
  };
  const tell = (id: number, text: string): void => send(id, { content: [{ type: 'text', text }] });
  /** Of the two calls that come together, the first is answered last. */
  let held: (() => void) | undefined;
  const call = (id: number, { name, arguments: args = {} }: NonNullable<Message['params']>): void => {
    if (name === 'echo') {
      held = () => tell(id, `Echo: ${args.message}`);
      return;
    }
    tell(id, `The sum of ${args.a} and ${args.b} is ${(args.a ?? 0) + (args.b ?? 0)}.`);
    held?.();
    held = undefined;
  };
  const take = ({ id, method = '', params = {} }: Message): void => {
    if (id === undefined) return;
    if (method === 'tools/call') call(id, params);
    else send(id, results[method] ?? {});
  };
  let rest = '';
  process.stdin.setEncoding('utf8').on('data', (piece) => {
    const lines = `${rest}${piece}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(JSON.parse(line));
  });
}
