import { createAdminCommand, dataOption, urlOption } from '../admin/command.ts'
import type { UsersOption } from './verb.ts'
import { usersVerbs } from './verbs.ts'

export const users = createAdminCommand<UsersOption>({
  name: 'users',
  summary: 'find, show, ban, delete, export and import users',
  about: 'Manages the users of an auth server.',
  note: 'export and import connect to the database of the server. They read its configuration in the same way as auth export and auth import.',
  verbs: usersVerbs,
  common: {
    data: dataOption,
    json: { meaning: 'print JSON; find prints one object per line' },
  },
  own: {
    'auth-url': urlOption,
    limit: { value: 'N', meaning: 'with find: number of users to list, up to 1000; default: 50' },
    csv: { meaning: 'with import: the file is a CSV file whose first line names the fields' },
    'dry-run': { meaning: 'with import: check the file and report the result, but write nothing' },
    soft: { meaning: 'with delete: delete the personal data, but keep the id' },
    yes: {
      meaning:
        'with delete, reset-factors and revoke-grant: do not ask for confirmation; needed without a terminal',
    },
  },
})
