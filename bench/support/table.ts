export type Cell = string | number;
export type Row = Readonly<Record<string, Cell>>;

/** Rows as a text table. Columns stand in the order of their first appearance; numbers are right-aligned. */
export function table(rows: readonly Row[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const widths = columns.map((column) =>
    Math.max(column.length, ...rows.map((row) => cellText(row[column]).length)),
  );
  const line = (cells: readonly (Cell | undefined)[], isHead = false): string =>
    cells
      .map((cell, index) => {
        const width = widths[index] ?? 0;
        const isNumber = isHead
          ? rows.some((row) => typeof row[columns[index] ?? ''] === 'number')
          : typeof cell === 'number';
        return isNumber ? cellText(cell).padStart(width) : cellText(cell).padEnd(width);
      })
      .join('  ')
      .trimEnd();
  const head = line(columns, true);
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [head, rule, ...rows.map((row) => line(columns.map((column) => row[column])))].join('\n');
}

export function cellText(cell: Cell | undefined): string {
  if (typeof cell !== 'number') return cell ?? '';
  if (Number.isNaN(cell)) return '-';
  return Math.abs(cell) >= 10_000 ? cell.toLocaleString('en-US') : String(cell);
}
