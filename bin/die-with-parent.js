// The published command as the child of a process on another Node. No signal tells a child that its parent was killed.
const die = () => process.kill(process.pid, 'SIGKILL');

if (process.connected) {
  process.once('disconnect', die);
  // The channel must not keep a command running that is done.
  process.channel.unref();
} else die();

await import('./agent-service.js');
