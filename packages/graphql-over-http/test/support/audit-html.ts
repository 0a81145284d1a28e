const VOID_ELEMENTS = new Set(['meta', 'br', 'hr', 'img', 'link', 'input'])

/**
 * Parses markup strictly and returns the names of its elements. Throws on a tag that is not closed,
 * a stray angle bracket or a bare ampersand.
 */
export function readElements(html: string): string[] {
  const open: string[] = []
  const names: string[] = []
  const content = html
    .replace('<!doctype html>', '')
    .replace(/<style>[^<]*<\/style>/, '<style></style>')
  for (const [token] of content.matchAll(/<[^<>]*>|[^<>]+|[<>]/g)) {
    const tag = /^<(\/?)([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"]*")?)*)>$/.exec(token)
    if (!tag) {
      if (/[<>]/.test(token)) throw new Error(`Stray angle bracket near ${token}`)
      if (/&(?!amp;|lt;|gt;)/.test(token)) throw new Error(`Bare ampersand in ${token}`)
      continue
    }
    const [, slash, name = ''] = tag
    if (slash === '/') {
      if (open.pop() !== name) throw new Error(`Unexpected ${token}`)
      continue
    }
    names.push(name)
    if (!VOID_ELEMENTS.has(name)) open.push(name)
  }
  if (open.length > 0) throw new Error(`Never closed: ${open.join(', ')}`)
  return names
}
