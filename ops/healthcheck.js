// Exit code 0 if the service in this container answers /healthz with 200. The image has no curl.
const port = process.env.AGENT_SERVICE_WEB_PORT || process.env.PORT || '3001';

try {
  const { ok } = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(3_000) });
  process.exitCode = ok ? 0 : 1;
} catch (error) {
  process.stderr.write(`healthz: ${error.cause?.code ?? error.message}\n`);
  process.exitCode = 1;
}
