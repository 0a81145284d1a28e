import type { Extension } from '@codemirror/state'

/** Whether a file contains policy tests instead of rules. */
export function isTestFile(name: string): boolean {
  return name.endsWith('.test.yaml')
}

const loadRules = async (): Promise<Extension> => (await import('./rule-language.ts')).language
const loadTests = async (): Promise<Extension> => (await import('./test-language.ts')).language

/** Returns the loader of the language of a file: YAML with the schema of rules or of tests. */
export function toLanguage(name: string): () => Promise<Extension> {
  return isTestFile(name) ? loadTests : loadRules
}
