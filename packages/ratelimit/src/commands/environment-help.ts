import { toHelpText } from '@portcullis/service-kit/settings-help'
import { chapters } from '../config/config.ts'

/** What `serve --help` says about the environment. */
export function toEnvironmentHelp(): string {
  return `Environment variables, with their defaults:\n\n${toHelpText(chapters)}`
}
