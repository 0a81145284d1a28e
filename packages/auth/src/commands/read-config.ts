import { readFileSync } from 'node:fs'
import { parseArgs, parseEnv } from 'node:util'
import type { CommandIo } from '@portcullis/service-kit/command'
import { type Environment, toFaultText } from '@portcullis/service-kit/env'
import { type ParsedConfig, parseConfig } from '../config.ts'
import { toReason } from './reason.ts'

/** What all commands take. */
export const configOption = { config: { type: 'string', short: 'c' } } as const

export const configHelp = `  -c, --config FILE  read this file of variables in place of .env; the environment wins over it`

/** The configuration; undefined when it cannot be used, and everything wrong with it was said. */
export function readConfig(
  { env, stderr }: CommandIo,
  file: string | undefined,
): Pick<ParsedConfig, 'config' | 'notes'> | undefined {
  let inFile: Environment
  try {
    inFile = readVariables(file)
  } catch (error) {
    stderr.write(`${file ?? '.env'} cannot be read: ${toReason(error)}\n`)
    return undefined
  }
  const { config, faults, notes } = parseConfig(env, inFile)
  if (faults.length === 0) return { config, notes }
  for (const note of notes) stderr.write(`warning: ${note}\n`)
  const lines = faults.map((fault) => `  ${toFaultText(fault)}\n`).join('')
  stderr.write(`The server cannot start: the configuration is not right.\n${lines}`)
  return undefined
}

/** Nobody needs a `.env`; a file that was asked for must be there. */
function readVariables(file: string | undefined): Environment {
  try {
    return parseEnv(readFileSync(file ?? '.env', 'utf8')) as Environment
  } catch (error) {
    if (file === undefined && (error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}

/** Undefined when they make no sense. */
export function readOptions(args: readonly string[], { stderr }: CommandIo, usage: string) {
  try {
    return parseArgs({ args: [...args], options: configOption, allowPositionals: true })
  } catch (error) {
    stderr.write(`${toReason(error)}\n\n${usage}`)
    return undefined
  }
}
