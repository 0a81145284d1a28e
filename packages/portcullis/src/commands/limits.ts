import { join } from 'node:path'
import { toArgumentError } from '@portcullis/service-kit/cli/argument-faults'
import { toVerbLines } from '@portcullis/service-kit/cli/verbs'
import type { CompletableCommand } from '../completion/command-tree.ts'
import { toCommandOptions, toHelpLines } from '../completion/option-table.ts'
import {
  readCounter,
  readTopKeys,
  resetCounter,
  toCallFailure,
} from '../console/limits/key-pages.ts'
import { saveLimit } from '../console/limits/save-limit.ts'
import { toLocalHost } from '../up/addresses.ts'
import { findFolderUser } from '../up/data-folder.ts'
import { UpRefusal } from '../up/errors.ts'
import { toDebugToken } from '../up/secrets.ts'
import { type DataFolder, findDataFolder, folderAdvice } from './find-data-folder.ts'
import {
  commonOptions,
  type DebugPlace,
  type LimitsArguments,
  limitsVerbs,
  parseLimitsArguments,
  setOptions,
  topOptions,
} from './limits-arguments.ts'
import { toChangeText, toCounterText, toTopText } from './limits-text.ts'

const usage = `Usage: portcullis limits VERB [OPTION…]

Lists the keys with the most hits in a running rate limit service, reads and
resets counters, and changes limits. A key is a domain and the entries of a
descriptor.

Verbs:
${toVerbLines(limitsVerbs)}

Options:
${toHelpLines({ ...topOptions, ...setOptions, ...commonOptions })}

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.
`

const common = toCommandOptions(commonOptions)

export const limitsCommand: CompletableCommand = {
  summary: 'list the keys with the most hits, reset counters, change limits',
  usage,
  completion: {
    options: common,
    commands: {
      top: { ...limitsVerbs.top, options: toCommandOptions(topOptions) },
      inspect: { ...limitsVerbs.inspect, operands: 'any' },
      reset: { ...limitsVerbs.reset, operands: 'any' },
      set: { ...limitsVerbs.set, options: toCommandOptions(setOptions), operands: 'any' },
    },
  },
  async run(args, io) {
    const parsed = parseLimitsArguments(args, io.env)
    if ('faults' in parsed) {
      io.stderr.write(toArgumentError('portcullis limits', ...parsed.faults))
      return 2
    }
    const target = findDebugPort(parsed.place, io.env)
    if (typeof target === 'string') {
      io.stderr.write(`${target}\n`)
      return 1
    }
    try {
      const { value, text, hasFailed = false } = await callVerb(parsed, target)
      io.stdout.write(parsed.isJson ? `${JSON.stringify(value, undefined, 2)}\n` : text)
      return hasFailed ? 1 : 0
    } catch (error) {
      const message = toCallFailure(error)
      if (message === undefined) throw error
      io.stderr.write(`${message}\n`)
      return 1
    }
  },
}

interface DebugTarget {
  readonly debugUrl: string
  readonly debugToken: string | undefined
  /** The rule files of a running `up`. */
  readonly rulesDirectory: string | undefined
}

interface VerbResult {
  readonly value: unknown
  readonly text: string
  /** Whether the command ends with exit code 1. */
  readonly hasFailed?: boolean
}

async function callVerb(parsed: LimitsArguments, target: DebugTarget): Promise<VerbResult> {
  if (parsed.verb === 'top') {
    const value = await readTopKeys(target, parsed.by, parsed.count)
    return { value, text: toTopText(value) }
  }
  if (parsed.verb === 'inspect') {
    const value = await readCounter(target, parsed.target)
    return { value, text: toCounterText(value) }
  }
  if (parsed.verb === 'set') {
    const { rulesDirectory = target.rulesDirectory ?? '' } = parsed
    const value = await saveLimit({ directory: rulesDirectory, service: target }, parsed)
    const state = value.load?.state
    return {
      value,
      text: toChangeText(value),
      hasFailed: state === 'refused' || state === 'unseen',
    }
  }
  const value = await resetCounter(target, parsed.target)
  return { value, text: `The counter was reset.\n${toCounterText(value)}` }
}

/** Returns the given service, or that of a running `up`; if neither exists, an error message. */
function findDebugPort(
  { url, token, data }: DebugPlace,
  env: Readonly<Record<string, string | undefined>>,
): DebugTarget | string {
  if (url !== undefined) return { debugUrl: url, debugToken: token, rulesDirectory: undefined }
  let folder: DataFolder | undefined
  try {
    folder = findDataFolder(data)
  } catch (error) {
    if (!(error instanceof UpRefusal)) throw error
    return error.message
  }
  const { ports, host = '127.0.0.1' } = (folder && findFolderUser(folder.path)) ?? {}
  const port = ports?.debug
  if (folder === undefined || port === undefined) {
    return `No running rate limit service was found. ${folderAdvice} For another service, pass --debug-url URL.`
  }
  const debugToken = token ?? toDebugToken(folder.secrets, env)
  return {
    debugUrl: `http://${toLocalHost(host)}:${port}`,
    debugToken,
    rulesDirectory: join(folder.path, 'rules'),
  }
}
