/** Whether a text contains a secret. Digits inside an id or a duration do not count. */
export function containsSecret(text: string, secret: string): boolean {
  if (!/^\d+$/.test(secret)) return text.includes(secret)
  return new RegExp(`(?<![\\w-]|\\d\\.)${secret}(?![\\w-])`).test(text)
}
