/** Whether a text tells a secret. The digits of a code may stand inside an id or a duration. */
export function isTold(text: string, secret: string): boolean {
  if (!/^\d+$/.test(secret)) return text.includes(secret)
  return new RegExp(`(?<![\\w-]|\\d\\.)${secret}(?![\\w-])`).test(text)
}
