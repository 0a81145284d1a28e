import { type Chapter, integer, type Settings } from '@portcullis/service-kit/env'
import { withOldNames } from './auth-name.ts'

export const metadata = {
  title: 'Metadata and the size of access tokens',
  variables: withOldNames({
    mostUserBytes: integer(
      'AUTH_USER_METADATA_MAX_BYTES',
      6_144,
      'The largest user_metadata of a user, in bytes of JSON',
      { min: 512 },
    ),
    mostAppBytes: integer(
      'AUTH_APP_METADATA_MAX_BYTES',
      6_144,
      'The largest app_metadata of a user, in bytes of JSON',
      { min: 512 },
    ),
    mostTokenBytes: integer(
      'AUTH_JWT_MAX_BYTES',
      12_288,
      'The longest access token. One that would be longer leaves user_metadata out. Servers and ' +
        'proxies accept request headers of 8 or 16 kB in all, and the token is one of them',
      { min: 4_096, max: 14_336 },
    ),
  }),
} satisfies Chapter

export type MetadataConfig = Settings<typeof metadata.variables>
