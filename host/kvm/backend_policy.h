/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy of our own VMM, for struct backend.
 */
#ifndef KVM_BACKEND_POLICY_H
#define KVM_BACKEND_POLICY_H

#include "backend.h"

void kvm_policy(const struct machine_spec *spec, struct policy *policy);

#endif
