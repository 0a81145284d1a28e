import { checkRules, type RuleDirectory, type RuleFinding } from '@portcullis/ratelimit/rules'

export interface TextFinding extends RuleFinding {
  /** Whether the text must not be saved as it is. */
  readonly isBlocking: boolean
}

/**
 * What there would be to say if a file had this text. Faults that other files had before keep nobody from
 * mending this one.
 */
export function checkText(directory: RuleDirectory, name: string, text: string): TextFinding[] {
  const before = new Set(checkRules(directory).findings.map(toIdentity))
  const { findings } = checkRules(withText(directory, name, text))
  return findings.map((finding) => {
    const isOld = finding.file !== name && before.has(toIdentity(finding))
    return { ...finding, isBlocking: finding.severity === 'fault' && !isOld }
  })
}

function withText(directory: RuleDirectory, name: string, text: string): RuleDirectory {
  const others = directory.files.filter((file) => file.name !== name)
  // A byte order mark is dropped when a file is read.
  const file = { name, text: text.replace(/^\ufeff/, '') }
  const files = [...others, file].sort((a, b) => (a.name < b.name ? -1 : 1))
  const unreadable = directory.unreadable.filter((each) => each.name !== name)
  return { ...directory, files, unreadable }
}

function toIdentity({ severity, file, line, column, message }: RuleFinding): string {
  return JSON.stringify([severity, file, line, column, message])
}
