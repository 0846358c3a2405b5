/** Numbers in sentences: `1 fault`, `2 faults`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
