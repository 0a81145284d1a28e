import type { SmtpClient, SmtpSettings } from './smtp.ts'

/** Loaded when the first message leaves: a server that sends none does without it. */
export function openSmtpLater(settings: SmtpSettings): SmtpClient {
  let loaded: Promise<SmtpClient> | undefined
  return {
    async send(mail, signal) {
      loaded ??= import('./smtp.ts').then(({ openSmtp }) => openSmtp(settings))
      await (await loaded).send(mail, signal)
    },
    async [Symbol.asyncDispose]() {
      await (await loaded)?.[Symbol.asyncDispose]()
    },
  }
}
