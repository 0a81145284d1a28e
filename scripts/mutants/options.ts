import { globSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { toArgumentFault, toValueFault } from '@portcullis/service-kit/cli/argument-faults'

export const usage = `Usage: npm run mutants -- FILE… [OPTION…]

Makes one small change at a time to the given files and runs the nearest tests
against each change. A change that no test detects is a survivor: a behaviour
that no test checks. No file on disk changes.

FILE is a TypeScript file, a folder or a glob.

Options:
  --sample N     test only N mutants, chosen at random
  --seed N       choose other mutants; the same seed chooses the same mutants;
                 default: 1
  --tests WORD   run test files with this word in their path before the nearest
                 ones; repeatable
  --max-tests N  use at most N test files for each file; default: 5
  --budget N     spend at most N seconds on the tests of a mutant; default: 40
  --min SCORE    exit with code 1 when fewer than SCORE percent of the mutants
                 are killed
  --list         list the mutants and the test files without running them
  --json FILE    write the results to a file
  --again FILE   test only the survivors in such a file, and report them
                 together with its other results
  --help         show this text

Exit codes: 0 on success, 1 if the score is below --min, 2 for invalid
arguments.`

export class UsageError extends Error {}

export interface Options {
  readonly files: readonly string[]
  readonly sample: number
  readonly seed: number
  readonly tests: readonly string[]
  readonly maxTests: number
  readonly budgetMs: number
  readonly min: number
  readonly isList: boolean
  readonly json: string | undefined
  readonly again: string | undefined
}

/** Returns undefined if the user requests help. @throws {UsageError} */
export function parseOptions(args: readonly string[], root: string): Options | undefined {
  const { values, positionals } = parse(args)
  if (values.help) return undefined
  if (positionals.length === 0) throw new UsageError('The FILE is missing.')
  return {
    files: [...new Set(positionals.flatMap((path) => findFiles(path, root)))],
    sample: toNumber('--sample', values.sample ?? 'Infinity'),
    seed: toNumber('--seed', values.seed ?? '1'),
    tests: values.tests ?? [],
    maxTests: toNumber('--max-tests', values['max-tests'] ?? '5'),
    budgetMs: 1000 * toNumber('--budget', values.budget ?? '40'),
    min: toNumber('--min', values.min ?? '0'),
    isList: values.list ?? false,
    json: values.json,
    again: values.again,
  }
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        sample: text,
        seed: text,
        tests: { ...text, multiple: true },
        'max-tests': text,
        budget: text,
        min: text,
        list: flag,
        json: text,
        again: text,
        help: { ...flag, short: 'h' },
      },
    })
  } catch (error) {
    throw new UsageError(toArgumentFault(error))
  }
}

function toNumber(name: string, text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= 0) return value
  throw new UsageError(toValueFault(name, 'a number', text))
}

/** Paths are relative to the current folder, or to the repository. */
function findFiles(path: string, root: string): string[] {
  const found = [process.cwd(), root].flatMap((folder) => {
    const absolute = resolve(folder, path)
    const isFolder = statSync(absolute, { throwIfNoEntry: false })?.isDirectory()
    return globSync(isFolder ? join(absolute, '**/*.ts') : absolute)
  })
  const files = found.map((file) => relative(root, file)).filter((file) => isCode(file))
  if (files.length > 0) return files.sort()
  throw new UsageError(`No TypeScript file matches "${path}".`)
}

const isCode = (file: string) => /(?<!\.d|\.test)\.ts$/.test(file) && !file.startsWith('..')
