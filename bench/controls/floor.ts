import { App, us_socket_local_port } from 'uWebSockets.js';

/* The floor: bare uWebSockets.js that parses the same JSON body and answers with the same bytes. */
const app = App();
app.post('/api/message-sync', (res) => {
  const chunks: Buffer[] = [];
  res.onAborted(() => undefined);
  res.onData((chunk, isLast) => {
    chunks.push(Buffer.from(chunk.slice(0)));
    if (!isLast) return;
    const { message } = JSON.parse(Buffer.concat(chunks).toString()) as { message: string };
    const answer = { success: true, response: `you said ${message}`, timestamp: new Date().toISOString() };
    res.cork(() => res.writeHeader('Content-Type', 'application/json').end(JSON.stringify(answer)));
  });
});
app.listen('127.0.0.1', 0, (socket) => {
  if (socket)
    process.stdout.write(`floor is listening on http://127.0.0.1:${us_socket_local_port(socket)}\n`);
});
