/**
 * The option that was probably meant: the written name is its beginning, or has one typing error.
 */
export function findSimilarOption(written: string, known: readonly string[]): string | undefined {
  const name = written.replace(/^-+/, '').toLowerCase()
  if (name.length < 2) return undefined
  return known.find((option) => {
    const other = option.toLowerCase()
    return other.startsWith(name) || isOneEditAway(name, other)
  })
}

/** Whether one letter was added, left out, changed, or swapped with its neighbour. */
function isOneEditAway(a: string, b: string): boolean {
  let start = 0
  while (start < a.length && a[start] === b[start]) start += 1
  const [restA, restB] = [a.slice(start), b.slice(start)]
  return (
    restA.slice(1) === restB ||
    restA === restB.slice(1) ||
    restA.slice(1) === restB.slice(1) ||
    `${restA[1]}${restA[0]}${restA.slice(2)}` === restB
  )
}
