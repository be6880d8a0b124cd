/* SPDX-License-Identifier: MIT */
/*
 * Source annotations. They describe contracts to Microsoft's static analyser and mean nothing to
 * the compiler, so all of them are empty here. _Use_decl_annotations_ and friends may stand before
 * any declaration; the forms with arguments accept any number of them.
 */
#ifndef DXGK_WDK_SAL_H
#define DXGK_WDK_SAL_H

#define _In_
#define _In_opt_
#define _In_z_
#define _In_opt_z_
#define _In_reads_(...)
#define _In_reads_opt_(...)
#define _In_reads_bytes_(...)
#define _In_reads_bytes_opt_(...)
#define _In_reads_z_(...)
#define _In_reads_or_z_(...)
#define _In_reads_to_ptr_(...)
#define _In_range_(...)
#define _In_count_(...)
#define _In_bytecount_(...)
#define _In_function_class_(...)
#define _Out_
#define _Out_opt_
#define _Out_writes_(...)
#define _Out_writes_opt_(...)
#define _Out_writes_z_(...)
#define _Out_writes_all_(...)
#define _Out_writes_all_opt_(...)
#define _Out_writes_to_(...)
#define _Out_writes_to_opt_(...)
#define _Out_writes_bytes_(...)
#define _Out_writes_bytes_opt_(...)
#define _Out_writes_bytes_all_(...)
#define _Out_writes_bytes_all_opt_(...)
#define _Out_writes_bytes_to_(...)
#define _Out_writes_bytes_to_opt_(...)
#define _Out_range_(...)
#define _Outptr_
#define _Outptr_opt_
#define _Outptr_result_maybenull_
#define _Outptr_opt_result_maybenull_
#define _Outptr_result_nullonfailure_
#define _Outptr_result_buffer_(...)
#define _Outptr_result_bytebuffer_(...)
#define _Outptr_result_z_
#define _COM_Outptr_
#define _Inout_
#define _Inout_opt_
#define _Inout_z_
#define _Inout_updates_(...)
#define _Inout_updates_opt_(...)
#define _Inout_updates_all_(...)
#define _Inout_updates_to_(...)
#define _Inout_updates_bytes_(...)
#define _Inout_updates_bytes_opt_(...)
#define _Inout_updates_bytes_all_(...)
#define _Inout_updates_bytes_to_(...)
#define _Reserved_
#define _Const_
#define _Null_terminated_
#define _NullNull_terminated_
#define _Printf_format_string_
#define _Points_to_data_

#define _Ret_maybenull_
#define _Ret_notnull_
#define _Ret_null_
#define _Ret_range_(...)
#define _Ret_writes_(...)
#define _Ret_writes_bytes_(...)
#define _Ret_writes_bytes_maybenull_(...)
#define _Ret_z_
#define _Must_inspect_result_
#define _Check_return_
#define _Check_return_opt_
#define _Success_(...)
#define _Return_type_success_(...)
#define _On_failure_(...)
#define _Always_(...)
#define _At_(...)
#define _At_buffer_(...)
#define _When_(...)
#define _Group_(...)
#define _Pre_
#define _Pre_notnull_
#define _Pre_maybenull_
#define _Pre_satisfies_(...)
#define _Pre_valid_
#define _Pre_readable_size_(...)
#define _Pre_writable_byte_size_(...)
#define _Post_
#define _Post_invalid_
#define _Post_notnull_
#define _Post_maybenull_
#define _Post_ptr_invalid_
#define _Post_satisfies_(...)
#define _Post_valid_
#define _Post_writable_byte_size_(...)
#define _Notnull_
#define _Maybenull_
#define _Valid_
#define _Notvalid_
#define _Field_range_(...)
#define _Field_size_(...)
#define _Field_size_opt_(...)
#define _Field_size_part_(...)
#define _Field_size_full_(...)
#define _Field_size_bytes_(...)
#define _Field_size_bytes_opt_(...)
#define _Field_size_bytes_part_(...)
#define _Field_size_bytes_full_(...)
#define _Field_z_
#define _Struct_size_bytes_(...)
#define _Unchanged_(...)
#define _Deref_out_
#define _Deref_out_opt_
#define _Deref_out_range_(...)
#define _Deref_in_range_(...)
#define _Use_decl_annotations_
#define _Analysis_assume_(...)
#define _Analysis_noreturn_
#define _Literal_
#define _Notliteral_
#define _Null_
#define _Prepost_z_
#define _Function_class_(...)
#define _Called_from_function_class_(...)
#define _Strict_type_match_
#define _Interlocked_operand_

#define _IRQL_requires_(...)
#define _IRQL_requires_max_(...)
#define _IRQL_requires_min_(...)
#define _IRQL_requires_same_
#define _IRQL_always_function_max_(...)
#define _IRQL_always_function_min_(...)
#define _IRQL_raises_(...)
#define _IRQL_saves_
#define _IRQL_saves_global_(...)
#define _IRQL_restores_
#define _IRQL_restores_global_(...)
#define _IRQL_uses_cancel_
#define _IRQL_is_cancel_
#define _Acquires_lock_(...)
#define _Acquires_shared_lock_(...)
#define _Acquires_exclusive_lock_(...)
#define _Releases_lock_(...)
#define _Releases_shared_lock_(...)
#define _Releases_exclusive_lock_(...)
#define _Requires_lock_held_(...)
#define _Requires_lock_not_held_(...)
#define _Requires_no_locks_held_
#define _Requires_shared_lock_held_(...)
#define _Requires_exclusive_lock_held_(...)
#define _Has_lock_kind_(...)
#define _Guarded_by_(...)
#define _Write_guarded_by_(...)
#define _Interlocked_
#define _Kernel_float_saved_
#define _Kernel_float_restored_
#define _Kernel_float_used_
#define _Kernel_clear_do_init_(...)
#define _Kernel_IoGetDmaAdapter_
#define _Kernel_requires_resource_held_(...)
#define _Kernel_requires_resource_not_held_(...)
#define _Kernel_acquires_resource_(...)
#define _Kernel_releases_resource_(...)
#define _Dispatch_type_(...)
#define _Drv_maxIRQL_(...)

#define __drv_aliasesMem
#define __drv_allocatesMem(...)
#define __drv_freesMem(...)
#define __drv_strictTypeMatch(...)
#define __drv_strictType(...)
#define __drv_dispatchType(...)
#define __drv_requiresIRQL(...)
#define __drv_maxIRQL(...)
#define __drv_minIRQL(...)
#define __drv_sameIRQL
#define __drv_functionClass(...)
#define __drv_when(...)
#define __drv_at(...)
#define __drv_mustHold(...)
#define __drv_preferredFunction(...)
#define __drv_reportError(...)
#define __drv_inTry
#define __drv_valueIs(...)
#define __drv_isObjectPointer
#define __drv_interlocked
#define __analysis_assume(...)
#define __kernel_code
#define __kernel_driver
#define __control_entrypoint(...)

/*
 * The older annotations, still found in driver sources. Those that the system's own headers use as
 * names (__reserved, __range, __success) are left out. __in and __out are names in libstdc++: its
 * headers go ahead of this one, or the source is compiled with -DDXGK_NO_SAL1 and goes without.
 */
#ifndef DXGK_NO_SAL1
#define __in
#define __out
#endif
#define __in_opt
#define __in_bcount(...)
#define __in_bcount_opt(...)
#define __in_ecount(...)
#define __in_ecount_opt(...)
#define __out_opt
#define __out_bcount(...)
#define __out_bcount_opt(...)
#define __out_ecount(...)
#define __out_ecount_opt(...)
#define __inout
#define __inout_opt
#define __inout_bcount(...)
#define __inout_ecount(...)
#define __deref_out
#define __deref_out_opt
#define __deref_inout
#define __checkReturn
#define __field_bcount(...)
#define __field_ecount(...)

#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif
#ifndef OPTIONAL
#define OPTIONAL
#endif
#define CONST const

#endif /* DXGK_WDK_SAL_H */
