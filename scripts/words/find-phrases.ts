import type { Exception } from './coverage.ts'
import type { Phrase } from './phrases.ts'

export interface Finding {
  readonly file: string
  /** Line and column are counted from 1, as in editors. */
  readonly line: number
  readonly column: number
  /** The text that was found, on one line. */
  readonly phrase: string
  readonly advice: string
}

/** Spaces, or a line break with the start of the next line of a comment or list. */
const GAP = '(?:[ \\t]+|[ \\t]*\\n[ \\t]*(?:(?:\\/\\/|\\*|#|--|>)[ \\t]+)?)'

/**
 * Finds the phrases in texts, in the order of files and positions.
 *
 * @param texts the content of each file by its path.
 */
export function findPhrases(
  texts: ReadonlyMap<string, string>,
  phrases: readonly Phrase[],
  exceptions: readonly Exception[],
): Finding[] {
  const patterns = phrases.map((phrase) => ({ phrase, pattern: allowLineBreaks(phrase.pattern) }))
  const used = new Set<Exception>()
  const findings: Finding[] = []
  for (const [file, text] of texts) {
    const own = exceptions.filter((exception) => exception.file === file)
    const matches = patterns
      .flatMap(({ phrase, pattern }) =>
        [...text.matchAll(pattern)].map((match) => ({ phrase, found: match[0], at: match.index })),
      )
      .sort((a, b) => a.at - b.at)
    for (const { phrase, found, at } of matches) {
      const exception = own.find((each) => each.phrase === toOneLine(found))
      if (exception) used.add(exception)
      else findings.push(toFinding(file, text, at, found, phrase))
    }
  }
  const unused = exceptions.filter((each) => texts.has(each.file) && !used.has(each))
  return [...findings, ...unused.map(toUnused)]
}

/** The patterns are written with single spaces. */
function allowLineBreaks({ source, flags }: RegExp): RegExp {
  return new RegExp(source.replaceAll(' ', GAP), flags)
}

function toFinding(
  file: string,
  text: string,
  at: number,
  found: string,
  { reason, instead }: Phrase,
): Finding {
  const before = text.slice(0, at).split('\n')
  return {
    file,
    line: before.length,
    column: (before.at(-1) ?? '').length + 1,
    phrase: toOneLine(found),
    advice: `${reason}; write: ${instead}`,
  }
}

function toUnused({ file, phrase }: Exception): Finding {
  const advice = 'this exception does not occur; remove it from scripts/words/coverage.ts'
  return { file, line: 1, column: 1, phrase, advice }
}

function toOneLine(found: string): string {
  return found.replaceAll(new RegExp(GAP, 'g'), ' ')
}
