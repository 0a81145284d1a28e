import { toHelpText } from '@portcullis/service-kit/settings-help'
import { chapters } from '../config/config.ts'

/** All variables, for `--help`. */
export function toEnvironmentHelp(): string {
  return `Environment, also with the prefix GOTRUE_:\n\n${toHelpText(chapters)}`
}
