import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

export const composeFolder = join(import.meta.dirname, '../../../../../examples/compose')

export interface ComposeService {
  readonly image: string
  readonly build?: { readonly dockerfile: string }
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string | number>>
  readonly ports?: readonly string[]
  readonly networks: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly restart?: string
  readonly stop_grace_period?: string
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly networks: Readonly<Record<string, unknown>>
}

export const composeText = readFileSync(join(composeFolder, 'compose.yaml'), 'utf8')

/** Reads the file as Compose does, with the variables of an `.env` file. */
export function readComposeFile(
  variables: Readonly<Record<string, string | undefined>>,
): ComposeFile {
  // Values are substituted after parsing, so that they cannot change the structure.
  return parse(
    composeText,
    (_key, value) => {
      return typeof value === 'string' ? fillIn(value, variables) : value
    },
    { merge: true },
  )
}

function fillIn(text: string, variables: Readonly<Record<string, string | undefined>>): string {
  return text.replaceAll(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_all, name: string, rule: string | undefined, word: string | undefined) => {
      const value = variables[name] ?? ''
      if (value !== '' || rule === undefined) return value
      if (rule === '-') return word ?? ''
      throw new Error(`${name}: ${word}`)
    },
  )
}

/** Returns the program that the image of a service starts, as a path in this repository. */
export function readProgram({ build }: ComposeService): { program: string; args: string[] } {
  const file = readFileSync(join(composeFolder, '../..', build?.dockerfile ?? ''), 'utf8')
  const [, words = ''] = /^ENTRYPOINT (.+)$/m.exec(file) ?? []
  const [, path = '', ...args]: string[] = JSON.parse(words)
  return { program: path.replace(/^\/app\//, ''), args }
}

/** Returns the variables that the file uses. */
export function readVariableNames(): Set<string> {
  return new Set([...composeText.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name))
}
