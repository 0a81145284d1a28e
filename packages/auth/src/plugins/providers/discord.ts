import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrue, toOneEmail, toProfile } from './oauth/profile-parts.ts'
import type { JsonObject } from './oauth/provider-http.ts'

export const discord = defineOAuth2({
  url: 'https://discord.com',
  authorizeUrl: ({ url }) => `${url}/api/oauth2/authorize`,
  tokenUrl: ({ url }) => `${url}/api/oauth2/token`,
  scopes: ['email', 'identify'],
  credentials: 'basic',
  async readProfile({ setup: { at }, get }) {
    const user = await get(`${at.apiUrl}/api/users/@me`)
    const { username, discriminator } = user
    return toProfile({
      id: user['id'],
      issuer: at.apiUrl,
      emails: toOneEmail(user['email'], isTrue(user['verified'])),
      name: hasNumber(discriminator) ? `${username}#${discriminator}` : username,
      picture: toPicture(user),
      more: { full_name: username },
      custom: { global_name: user['global_name'] },
    })
  },
})

/**
 * Old user names are unique only with a number; users with a unique name have the discriminator
 * `0`.
 */
function hasNumber(discriminator: unknown): boolean {
  return typeof discriminator === 'string' && /^\d*[1-9]\d*$/.test(discriminator)
}

const pictures = 'https://cdn.discordapp.com'

function toPicture({ id, avatar, discriminator }: JsonObject): string {
  if (typeof avatar === 'string' && avatar !== '') {
    const type = avatar.startsWith('a_') ? 'gif' : 'png'
    return `${pictures}/avatars/${id}/${avatar}.${type}`
  }
  const number = hasNumber(discriminator) ? Number(discriminator) % 5 : toNumber(id)
  return `${pictures}/embed/avatars/${number}.png`
}

/**
 * Discord derives the default avatar from the creation time, which is in the upper bits of the ID.
 */
function toNumber(id: unknown): number {
  return typeof id === 'string' && /^\d{1,20}$/.test(id) ? Number((BigInt(id) >> 22n) % 6n) : 0
}
