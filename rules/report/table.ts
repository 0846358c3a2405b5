/** A plain table: columns as wide as their widest cell, two spaces between. Width counts code points. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((name, i) => Math.max(...[name, ...rows.map((row) => row[i] ?? '')].map(width)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => cell + ' '.repeat((widths[i] ?? 0) - width(cell)))
      .join('  ')
      .trimEnd();
  return [line(head), widths.map((each) => '-'.repeat(each)).join('  '), ...rows.map(line)];
}

const width = (text: string): number => Array.from(text).length;
