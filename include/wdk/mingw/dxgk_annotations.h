/* SPDX-License-Identifier: MIT */
/* Source annotations that mingw-w64 does not have. Like its own, they say nothing to the compiler. */
#ifndef DXGK_WDK_MINGW_ANNOTATIONS_H
#define DXGK_WDK_MINGW_ANNOTATIONS_H

#ifndef _Analysis_noreturn_
#define _Analysis_noreturn_
#endif
#ifndef _Check_return_opt_
#define _Check_return_opt_
#endif
#ifndef _Dispatch_type_
#define _Dispatch_type_(...)
#endif
#ifndef _Drv_maxIRQL_
#define _Drv_maxIRQL_(...)
#endif
#ifndef _IRQL_always_function_max_
#define _IRQL_always_function_max_(...)
#endif
#ifndef _IRQL_always_function_min_
#define _IRQL_always_function_min_(...)
#endif
#ifndef _IRQL_is_cancel_
#define _IRQL_is_cancel_
#endif
#ifndef _IRQL_restores_global_
#define _IRQL_restores_global_(...)
#endif
#ifndef _IRQL_saves_global_
#define _IRQL_saves_global_(...)
#endif
#ifndef _IRQL_uses_cancel_
#define _IRQL_uses_cancel_
#endif
#ifndef _In_function_class_
#define _In_function_class_(...)
#endif
#ifndef _Interlocked_operand_
#define _Interlocked_operand_
#endif
#ifndef _Kernel_IoGetDmaAdapter_
#define _Kernel_IoGetDmaAdapter_
#endif
#ifndef _Kernel_acquires_resource_
#define _Kernel_acquires_resource_(...)
#endif
#ifndef _Kernel_clear_do_init_
#define _Kernel_clear_do_init_(...)
#endif
#ifndef _Kernel_float_restored_
#define _Kernel_float_restored_
#endif
#ifndef _Kernel_float_saved_
#define _Kernel_float_saved_
#endif
#ifndef _Kernel_float_used_
#define _Kernel_float_used_
#endif
#ifndef _Kernel_releases_resource_
#define _Kernel_releases_resource_(...)
#endif
#ifndef _Kernel_requires_resource_held_
#define _Kernel_requires_resource_held_(...)
#endif
#ifndef _Kernel_requires_resource_not_held_
#define _Kernel_requires_resource_not_held_(...)
#endif
#ifndef _Maybenull_
#define _Maybenull_
#endif
#ifndef _Notnull_
#define _Notnull_
#endif
#ifndef _Notvalid_
#define _Notvalid_
#endif
#ifndef _Null_
#define _Null_
#endif
#ifndef _Post_invalid_
#define _Post_invalid_
#endif
#ifndef _Post_maybenull_
#define _Post_maybenull_
#endif
#ifndef _Post_notnull_
#define _Post_notnull_
#endif
#ifndef _Post_ptr_invalid_
#define _Post_ptr_invalid_
#endif
#ifndef _Post_valid_
#define _Post_valid_
#endif
#ifndef _Pre_
#define _Pre_
#endif
#ifndef _Pre_maybenull_
#define _Pre_maybenull_
#endif
#ifndef _Pre_valid_
#define _Pre_valid_
#endif
#ifndef _Prepost_z_
#define _Prepost_z_
#endif
#ifndef _Valid_
#define _Valid_
#endif
#ifndef __control_entrypoint
#define __control_entrypoint(...)
#endif
#ifndef __deref_inout
#define __deref_inout
#endif
#ifndef __drv_functionClass
#define __drv_functionClass(...)
#endif
#ifndef __drv_inTry
#define __drv_inTry
#endif
#ifndef __drv_interlocked
#define __drv_interlocked
#endif
#ifndef __drv_isObjectPointer
#define __drv_isObjectPointer
#endif
#ifndef __drv_minIRQL
#define __drv_minIRQL(...)
#endif
#ifndef __drv_mustHold
#define __drv_mustHold(...)
#endif
#ifndef __drv_preferredFunction
#define __drv_preferredFunction(...)
#endif
#ifndef __drv_reportError
#define __drv_reportError(...)
#endif
#ifndef __drv_sameIRQL
#define __drv_sameIRQL
#endif
#ifndef __drv_strictType
#define __drv_strictType(...)
#endif
#ifndef __drv_strictTypeMatch
#define __drv_strictTypeMatch(...)
#endif
#ifndef __field_bcount
#define __field_bcount(...)
#endif
#ifndef __field_ecount
#define __field_ecount(...)
#endif
#ifndef __in_bcount_opt
#define __in_bcount_opt(...)
#endif
#ifndef __in_ecount_opt
#define __in_ecount_opt(...)
#endif
#ifndef __out_bcount_opt
#define __out_bcount_opt(...)
#endif
#ifndef __out_ecount_opt
#define __out_ecount_opt(...)
#endif


/*
 * The two oldest ones, which libstdc++ has as names of parameters: its headers go ahead of this one, or the source is compiled with
 * -DDXGK_NO_SAL1 and goes without.
 */
#ifndef DXGK_NO_SAL1
#ifndef __in
#define __in
#endif
#ifndef __out
#define __out
#endif
#endif

#endif /* DXGK_WDK_MINGW_ANNOTATIONS_H */
