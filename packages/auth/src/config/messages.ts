import { type Chapter, integer, type Settings } from '@portcullis/service-kit/env'
import { withOldNames } from './auth-name.ts'

export const messages = {
  title: 'Sending messages',
  variables: withOldNames({
    concurrency: integer(
      'AUTH_MESSAGES_CONCURRENCY',
      4,
      'How many messages each process sends at the same time, of each kind: email, text messages, hooks',
      { min: 1, max: 1_000 },
    ),
  }),
} satisfies Chapter

export type MessagesConfig = Settings<typeof messages.variables>
