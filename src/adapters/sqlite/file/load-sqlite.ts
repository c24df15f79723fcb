type Sqlite = typeof import('node:sqlite');

/**
 * Loads `node:sqlite` without the warning that it is experimental: the runtime is pinned, so an operator
 * can do nothing about it. Loading is synchronous, so no other warning can fall into the gap.
 */
export function loadSqlite(): Sqlite {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (String(warning).startsWith('SQLite is an experimental feature')) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}
