/**
 * The first `maxLength` characters. A copy: a part that V8 cuts out of a text keeps the whole text
 * in memory, and spans wait in a queue.
 */
export function cutText(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : Buffer.from(text.slice(0, maxLength)).toString()
}
