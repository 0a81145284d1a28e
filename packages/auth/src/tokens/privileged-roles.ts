/**
 * The service role and the second privileged role. They are the administrators unless AUTH_JWT_ADMIN_ROLES
 * names others, and may invite users in any case.
 */
export const privilegedRoles = ['service_role', 'supabase_admin'] as const
