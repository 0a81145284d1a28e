export interface User {
  readonly id: number
  readonly home: string
  readonly path: string
}

export type UserName = 'root' | 'ordinary'

/** The users that run the commands. The ordinary user has no privileges and no sudo. */
export const users: Readonly<Record<UserName, User>> = {
  root: {
    id: 0,
    home: '/root',
    path: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  },
  ordinary: { id: 1000, home: '/home/ordinary', path: '/usr/local/bin:/usr/bin:/bin' },
}
