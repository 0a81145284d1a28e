/** The client sends null for what it leaves out. Below the first level null has a meaning. */
export function dropNulls(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  // Without a prototype, so that a key such as __proto__ is nothing but a key.
  const kept: Record<string, unknown> = Object.create(null)
  for (const [key, value] of Object.entries(body)) if (value !== null) kept[key] = value
  return kept
}
