import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Lexer,
  type SelectionSetNode,
  Source,
  TokenKind,
} from 'graphql'

type LimitName = 'maxTokens' | 'maxDepth' | 'maxAliases'

export const DEFAULT_MAX_TOKENS = 15_000

/** A document beyond a limit. It is refused with 400 in every profile, before validation. */
export class LimitError extends GraphQLError {
  constructor(what: string, limit: number, option: LimitName) {
    super(`${what}; the limit is ${limit}, set by the option "${option}"`)
  }
}

export const tooManyTokens = (limit: number): LimitError =>
  new LimitError('Document has too many tokens', limit, 'maxTokens')

/** Counts the tokens before a parser sees the source, for parsers that have no limit. */
export function checkTokens(source: string, limit: number): void {
  const lexer = new Lexer(new Source(source))
  try {
    for (let count = 0; count <= limit; count += 1) {
      if (lexer.advance().kind === TokenKind.EOF) return
    }
  } catch {
    // Not a GraphQL token; a custom parser may understand it.
    return
  }
  throw tooManyTokens(limit)
}

interface Extent {
  depth: number
  aliases: number
}

/** Measures every operation of a document, and throws when one exceeds a limit. */
export function checkExtent(
  document: DocumentNode,
  maxDepth: number | false,
  maxAliases: number | false,
): void {
  if (maxDepth === false && maxAliases === false) return
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const node of document.definitions) {
    if (node.kind === 'FragmentDefinition') fragments.set(node.name.value, node)
  }
  // Each fragment is measured once; otherwise a few short fragments that spread each other would
  // take exponential time.
  const known = new Map<string, Extent>()

  const measureFragment = (name: string): Extent => {
    let extent = known.get(name)
    if (!extent) {
      extent = { depth: 0, aliases: 0 }
      // This also ends a cycle of fragments, which validation refuses later.
      known.set(name, extent)
      const fragment = fragments.get(name)
      if (fragment) Object.assign(extent, measure(fragment.selectionSet))
    }
    return extent
  }
  const measure = ({ selections }: SelectionSetNode): Extent => {
    let depth = 0
    let aliases = 0
    for (const node of selections) {
      let inner: Extent | undefined
      if (node.kind === 'FragmentSpread') inner = measureFragment(node.name.value)
      else if (node.selectionSet) inner = measure(node.selectionSet)
      let level = inner?.depth ?? 0
      if (node.kind === 'Field') {
        level = node.name.value.startsWith('__') ? 1 : level + 1
        if (node.alias) aliases += 1
      }
      depth = Math.max(depth, level)
      aliases += inner?.aliases ?? 0
    }
    return { depth, aliases }
  }

  for (const node of document.definitions) {
    if (node.kind !== 'OperationDefinition') continue
    const { depth, aliases } = measure(node.selectionSet)
    if (maxDepth !== false && depth > maxDepth) {
      throw new LimitError(`Document has a depth of ${depth}`, maxDepth, 'maxDepth')
    }
    if (maxAliases !== false && aliases > maxAliases) {
      throw new LimitError(`Document has ${aliases} aliases`, maxAliases, 'maxAliases')
    }
  }
}
