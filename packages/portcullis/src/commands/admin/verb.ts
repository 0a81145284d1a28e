import type { CommandIo } from '@portcullis/service-kit/cli/command'
import type { VerbWithOperands } from '@portcullis/service-kit/cli/verbs'
import type { ValueKind } from '../../completion/command-tree.ts'
import { type AdminClient, AdminFailure, createAdminClient } from './client.ts'
import { confirmOnTerminal } from './confirm.ts'

/** The options that every command with an admin client has. */
export type CommonOption = 'data' | 'json' | 'auth-url'

export type OptionValues<Option extends string> = Readonly<
  Partial<Record<Option | CommonOption, string | boolean | readonly string[]>>
>

export interface AdminInput<Option extends string> {
  readonly positionals: readonly string[]
  readonly values: OptionValues<Option>
  readonly io: CommandIo
}

/** A verb of a command that manages a server, such as `ban` of `portcullis users`. */
export interface AdminVerb<Option extends string> extends VerbWithOperands {
  /** The options of this verb, in addition to those of all verbs of the command. */
  readonly options: readonly Option[]
  /** How shells complete its arguments; missing if it takes none. */
  readonly operands?: ValueKind
  /** Returns the reason if the values of the arguments are invalid. */
  findFault?(input: Pick<AdminInput<Option>, 'positionals' | 'values'>): string | undefined
  /** @throws {AdminFailure} */
  run(input: AdminInput<Option>): Promise<void>
}

export function createClient({ values, io }: AdminInput<string>): AdminClient {
  const { 'auth-url': authUrl, data } = values
  return createAdminClient({ authUrl: toText(authUrl), data: toText(data), env: io.env })
}

export function toText(value: OptionValues<string>[string]): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The values of an option that can be repeated. */
export function toTexts(value: OptionValues<string>[string]): readonly string[] {
  return Array.isArray(value) ? value : []
}

/** Asks for confirmation, unless `--yes` is set. @throws {AdminFailure} without it. */
export async function requireConsent(
  { values }: Pick<AdminInput<'yes'>, 'values'>,
  question: string,
): Promise<void> {
  const isAgreed = values.yes === true || (await confirmOnTerminal(question))
  if (isAgreed === undefined) {
    throw new AdminFailure(
      'Nothing was changed: this command asks for confirmation, and there is no terminal. To run it without the question, pass --yes.',
    )
  }
  if (!isAgreed) throw new AdminFailure('Nothing was changed.')
}
