import type { Config } from '../../config/config.ts'
import { toMessagePayload } from '../requests/mail-plan.ts'
import { isMailKind, type MessageName } from './mail-renderer.ts'

/** A variable that a template can use. */
export interface TemplateVariable {
  /** As in a template, such as `.Token` or `.Data.name`. */
  readonly name: string
  readonly meaning: string
  readonly example: string
}

const meanings: Readonly<Record<string, string>> = {
  ConfirmationURL: 'The link of the message',
  Token: 'The one-time code',
  TokenHash: 'The token in the link, to build your own link',
  SiteURL: 'The URL of your site',
  RedirectTo: 'The URL that the link redirects to',
  Email: 'The email address of the account',
  NewEmail: 'The new email address',
  SendingTo: 'The email address that this message is sent to',
  OldEmail: 'The previous email address',
  Phone: 'The phone number',
  OldPhone: 'The previous phone number',
  Provider: 'The provider of the identity',
  FactorType: 'The kind of second factor',
}

const data = { name: 'Ada Lovelace' }

/** The variables that a notification has in addition to those of all notifications. */
const facts: Readonly<Record<Exclude<MessageName, LinkOrCode>, Readonly<Record<string, string>>>> =
  {
    password_changed_notification: {},
    email_changed_notification: { OldEmail: 'previous@example.com' },
    phone_changed_notification: { Phone: '15550100', OldPhone: '15550199' },
    identity_linked_notification: { Provider: 'github' },
    identity_unlinked_notification: { Provider: 'github' },
    mfa_factor_enrolled_notification: { FactorType: 'totp' },
    mfa_factor_unenrolled_notification: { FactorType: 'totp' },
  }

type LinkOrCode = Extract<MessageName, keyof Config['mail']['messages']>

export type TemplateValues = Readonly<Record<string, unknown>>

/** Returns the values of a message for previews and tests. The code and the link do not work. */
export function toExampleValues(
  { api, mail, site }: Pick<Config, 'api' | 'mail' | 'site'>,
  name: MessageName,
  recipient: string,
): TemplateValues {
  if (!isMailKind(name)) {
    return { SiteURL: site.url, Email: recipient, Data: data, ...facts[name] }
  }
  const token = '1234567890'.slice(0, mail.otpLength)
  const always = { siteUrl: site.url, email: recipient, token, data }
  if (name === 'reauthentication') return { ...toMessagePayload({ kind: name, ...always }) }
  const payload = toMessagePayload({
    kind: name,
    ...always,
    tokenHash: 'example-token',
    redirectTo: site.url,
    externalUrl: api.externalUrl,
    path: mail.messages[name].path,
    ...(name === 'email_change' && { newEmail: 'new@example.com', sendingTo: recipient }),
  })
  return { ...payload }
}

/** Describes the variables of a message, with their values as examples. */
export function describeVariables(values: TemplateValues): readonly TemplateVariable[] {
  const named = Object.entries(meanings).flatMap(([name, meaning]) => {
    const { [name]: example } = values
    return typeof example === 'string' ? [{ name: `.${name}`, meaning, example }] : []
  })
  return [...named, { name: '.Data.name', meaning: 'A value in user_metadata', example: data.name }]
}
