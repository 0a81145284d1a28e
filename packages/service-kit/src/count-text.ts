/** `1 user`, `2 users`. */
export function toCountText(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`
}
