import process from 'node:process'
import { text } from 'node:stream/consumers'
import { createUserAsAdmin } from '../../features/admin/create-user.ts'
import { parseEmail } from '../../features/users/addresses.ts'
import { checkPassword } from '../../passwords/password-policy.ts'
import type { AdminVerb } from './verb.ts'
import { operator, operatorClient } from './verb.ts'

export const createuser: AdminVerb = {
  synopsis: 'EMAIL PASSWORD [ROLE] [--confirm] [--admin] [--aud AUDIENCE]',
  summary: 'create a user; nothing is sent. The password - is read from standard input',
  takes: [2, 3],
  options: ['confirm', 'admin', 'aud'],
  async run(services, { positionals, flags, audience, io }) {
    const [email = '', given = '', namedRole] = positionals
    const { tokens, mail } = services.config
    const password = given === '-' ? await readPassword() : given
    await checkPassword(password, services.passwordPolicy)
    const role = namedRole ?? (flags.has('admin') ? tokens.adminGroup : undefined)
    const isConfirmed = flags.has('confirm') || mail.autoconfirm
    const user = await createUserAsAdmin(services, {
      id: undefined,
      aud: audience,
      role,
      email: parseEmail(email),
      phone: undefined,
      password,
      passwordHash: undefined,
      isEmailConfirmed: isConfirmed,
      isPhoneConfirmed: false,
      userMetadata: {},
      appMetadata: {},
      bannedUntil: undefined,
      adminRole: operator,
      client: operatorClient,
    })
    io.stdout.write(`${user.id}\n`)
    if (!isConfirmed) {
      io.stderr.write('The address is not confirmed: --confirm lets the user sign in at once.\n')
    }
    if (flags.has('admin') && !tokens.adminRoles.includes(role ?? '')) {
      io.stderr.write(
        `The role ${role} may not use the admin endpoints: AUTH_JWT_ADMIN_ROLES does not name it.\n`,
      )
    }
  },
}

/** Arguments are seen by everybody on the machine; standard input is not. */
async function readPassword(): Promise<string> {
  return (await text(process.stdin)).replace(/\r?\n$/, '')
}
