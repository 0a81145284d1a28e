/** An unknown name that is set, and the known name that was probably meant. */
export interface Misspelling {
  readonly name: string
  readonly suggestion: string
}

/**
 * Short names and loose similarity would match variables of other programs, so only one or two
 * wrong letters in a long name count, or the same words in another notation.
 */
export function findMisspellings(
  names: Iterable<string>,
  known: ReadonlySet<string>,
): Misspelling[] {
  const byLetters = new Map([...known].map((name) => [toLetters(name), name]))
  const misspellings: Misspelling[] = []
  for (const name of names) {
    if (known.has(name)) continue
    const suggestion = byLetters.get(toLetters(name)) ?? findNearest(name, known)
    if (suggestion !== undefined) misspellings.push({ name, suggestion })
  }
  return misspellings
}

/**
 * Finds the command or option that was probably meant: misspelled, or only its beginning. Undefined
 * if none is similar enough.
 */
export function findSimilarName(name: string, known: Iterable<string>): string | undefined {
  const candidates = [...known]
  const begun = candidates.filter((candidate) => name.length >= 3 && candidate.startsWith(name))
  if (begun.length === 1) return begun[0]
  const allowed = Math.min(3, Math.max(1, Math.floor(name.length / 3)), name.length - 1)
  const ranked = candidates
    .map((candidate) => ({ candidate, edits: countEdits(name, candidate) }))
    .sort((one, other) => one.edits - other.edits)
  const [nearest] = ranked
  return nearest !== undefined && nearest.edits <= allowed ? nearest.candidate : undefined
}

/** ` Did you mean …?`, to append to a sentence; empty if nothing is similar enough. */
export function toQuestion(name: string, known: Iterable<string>): string {
  const meant = findSimilarName(name, known)
  return meant === undefined ? '' : ` Did you mean ${meant}?`
}

function toLetters(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')
}

function findNearest(name: string, known: ReadonlySet<string>): string | undefined {
  const allowed = Math.min(2, Math.floor(name.length / 8))
  let nearest: string | undefined
  let least = allowed + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= least) continue
    // A name with another first letter most likely belongs to another program.
    if (candidate[0] !== name[0]) continue
    const distance = countEdits(name, candidate)
    if (distance < least) {
      least = distance
      nearest = candidate
    }
  }
  return nearest
}

/**
 * The number of insertions, deletions, changes and swaps of neighbouring letters between a and b.
 */
function countEdits(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1]
      let edits = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      )
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        edits = Math.min(edits, (beforeLast[column - 2] ?? 0) + 1)
      }
      current.push(edits)
    }
    beforeLast = last
    last = current
  }
  return last[b.length] ?? 0
}
