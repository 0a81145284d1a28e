import type { Endpoint } from '../http/endpoint.ts'
import { adminAudit } from './admin/audit.ts'
import { adminCreateUser, adminCreateUserWithId } from './admin/create-user.ts'
import { adminDeleteUser } from './admin/delete-user.ts'
import { adminGenerateLink } from './admin/generate-link.ts'
import { adminGetUser } from './admin/get-user.ts'
import { adminListUsers } from './admin/list-users.ts'
import { adminUpdateUser } from './admin/update-user.ts'
import { getUser } from './get-user.ts'
import { health } from './health.ts'
import { invite } from './invite.ts'
import { jwks } from './jwks.ts'
import { logout } from './logout.ts'
import { magiclink } from './magiclink.ts'
import { createOpenApi } from './openapi.ts'
import { otp } from './otp.ts'
import { putUser } from './put-user.ts'
import { reauthenticate } from './reauthenticate.ts'
import { recover } from './recover.ts'
import { resend } from './resend.ts'
import { settings } from './settings.ts'
import { signup } from './signup.ts'
import { token } from './token.ts'
import { verifyGet } from './verify-get.ts'
import { verifyPost } from './verify-post.ts'

/** The route table. Router, description of the API and documentation come from it. */
const table: readonly Endpoint[] = [
  health,
  settings,
  signup,
  token,
  verifyGet,
  verifyPost,
  otp,
  magiclink,
  recover,
  resend,
  getUser,
  putUser,
  reauthenticate,
  logout,
  invite,
  adminListUsers,
  adminCreateUser,
  adminCreateUserWithId,
  adminGetUser,
  adminUpdateUser,
  adminDeleteUser,
  adminGenerateLink,
  adminAudit,
  jwks,
]

export const endpoints: readonly Endpoint[] = [...table, createOpenApi(table)]
