import { join } from 'node:path'
import { toAuditHeaders } from '../up/audit-pass.ts'
import { readPrivateFile } from '../up/private-files.ts'
import { parseSecrets, secretsFile } from '../up/secrets.ts'

const loopback = /^https?:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?\//

/**
 * The arguments of an audit, with the header that exempts it from the limits of our own API: dozens of
 * requests at once are more than those let pass. The header is of no use to anybody else, and is sent to this
 * machine only, where `portcullis up` has left its secrets in this folder.
 */
export function withOwnApiPass(args: readonly string[], folder = '.portcullis'): readonly string[] {
  if (args[0] !== 'audit' || !args.some((arg) => loopback.test(arg))) return args
  const secrets = readSecrets(folder)
  if (secrets === undefined) return args
  const headers = Object.entries(toAuditHeaders(secrets))
  return [...args, ...headers.flatMap(([name, value]) => ['--header', `${name}: ${value}`])]
}

function readSecrets(folder: string) {
  try {
    return parseSecrets(readPrivateFile(join(folder, secretsFile)) ?? '')
  } catch {
    // No `portcullis up` was started here.
    return undefined
  }
}
